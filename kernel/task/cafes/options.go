package cafes

import "fmt"

const (
	worldSize   = 50
	maxRequests = 500
)

// Options choose a generated task. The zero value is the default task.
type Options struct {
	N        int    `json:"n" default:"10" min:"2" max:"50" doc:"items in each problem"`
	Requests int    `json:"requests" default:"100" min:"1" max:"500" doc:"how many requests, spread evenly over the groups"`
	Seed     uint64 `json:"seed" default:"0" doc:"seed of the world and the requests"`
}

// String is the options in the form of Task.Config.
func (o Options) String() string {
	return fmt.Sprintf("n=%d&requests=%d&seed=%d", o.N, o.Requests, o.Seed)
}
