package sea

import (
	"fmt"
	"os"
)

const Limit = 3

// Harbour is a place.
type Harbour struct {
	Name string
}

type (
	// Tide is a level.
	Tide int
	Port interface {
		Open() error
	}
)

// Dock docks a ship.
//
// It may fail.
func (h *Harbour) Dock(ship string) error {
	f := func() { fmt.Println(ship) }
	f()
	return nil
}

func (s Stack[T]) Push(v T) {}

func Map[T, U any](in []T, f func(T) U) []U {
	return nil
}

var handler = func(w int) int {
	return w
}

func main() { os.Exit(0) }
