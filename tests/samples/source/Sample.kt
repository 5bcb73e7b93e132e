package sea.harbour

import kotlin.math.max

const val LIMIT = 3

/** A harbour. */
@Serializable
class Harbour<T>(val depth: Int) : Port {
    private val name = "x"

    constructor() : this(1)

    /** Docks. */
    @Throws(IOException::class)
    override fun dock(ship: String): Boolean {
        return true
    }

    companion object {
        fun create() = Harbour<Int>(1)
    }

    inner class Dock {
        fun ships() = 1
    }
}

data class Point(val x: Int, val y: Int)

sealed interface Shape {
    fun area(): Double
}

enum class Tide { LOW, HIGH }

object Registry {
    fun register() {
    }
}

/** Shouts. */
fun String.shout(): String = uppercase()

fun <T> List<T>.second(): T {
    return this[1]
}

suspend inline fun wave(x: Int) {
    fun inner() {}
}

typealias Names = List<String>

fun main() { println("x") }
