defmodule Sea.Harbour do
  @moduledoc "A harbour."
  use GenServer
  alias Sea.Port

  @limit 3

  @doc "Docks a ship."
  @spec dock(String.t()) :: boolean
  def dock(ship) when is_binary(ship) do
    true
  end

  # Clauses of one name.
  def level(0), do: 0
  def level(n), do: n + 1

  defp hidden(a, b) do
    a + b
  end

  defmacro wave(x) do
    quote do: unquote(x)
  end

  defmodule Inner do
    def deep, do: 1
  end
end

defprotocol Floats do
  def float(x)
end

defimpl Floats, for: Sea.Harbour do
  def float(_x), do: true
end

defmodule SeaTest do
  test "docks" do
    assert true
  end
end
