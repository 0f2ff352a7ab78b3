package arithmetic

import "fmt"

const levels = 5

// Options choose a generated task. The zero value is the default task.
type Options struct {
	N     int    `json:"n" default:"100" min:"1" max:"10000" doc:"how many problems, spread evenly over the levels"`
	Level int    `json:"level" default:"0" choices:"0,1,2,3,4,5" doc:"how hard: 1 to 5, or 0 for all levels"`
	Seed  uint64 `json:"seed" default:"0" doc:"seed of the problems"`
}

// String is the options in the form of Task.Config.
func (o Options) String() string {
	return fmt.Sprintf("level=%d&n=%d&seed=%d", o.Level, o.N, o.Seed)
}
