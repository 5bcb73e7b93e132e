package sea.harbour

import scala.collection.mutable

/** A harbour. */
@deprecated
class Harbour[T](depth: Int) extends Port with Floats {
  private val name = "x"

  /** Docks. */
  @throws[Exception]
  override def dock(ship: String): Boolean = {
    def inner() = 1
    true
  }

  def twice(a: Int) = a * 2
}

object Harbour {
  def apply(depth: Int): Harbour[Int] = new Harbour(depth)
}

trait Port {
  def open(): Unit
  def close(): Unit = ()
}

case class Point(x: Int, y: Int)

sealed abstract class Shape

type Names = List[String]

def topLevel(x: Int): Int =
  x + 1

enum Colour:
  case Red, Green
