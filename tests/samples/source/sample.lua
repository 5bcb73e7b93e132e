local limit = 3

--- Docks a ship.
-- In two lines.
local function dock(ship)
  return ship
end

function Harbour.new(depth)
  local self = {}
  return self
end

function Harbour:level()
  return 1
end

local wave = function(x)
  return x
end

Harbour.close = function(self) return 1 end

return {
  open = function()
    return 2
  end,
}
