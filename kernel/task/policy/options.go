package policy

import "fmt"

// All stands for all policies.
const All = "all"

// Options choose a generated task. The zero value is the default task. The
// numbers of reviews are those of the public benchmark.
type Options struct {
	Policy      string `json:"policy" default:"all" choices:"allergy,hygiene,service,value,accessibility,noise,all" doc:"which policy to apply"`
	Restaurants int    `json:"restaurants" default:"20" min:"1" max:"500" doc:"restaurants for each policy"`
	K           int    `json:"k" default:"25" choices:"25,50,100,200" doc:"reviews of each restaurant"`
	Seed        uint64 `json:"seed" default:"0" doc:"seed of the restaurants and the reviews"`
}

// String is the options in the form of Task.Config.
func (o Options) String() string {
	return fmt.Sprintf("k=%d&policy=%s&restaurants=%d&seed=%d", o.K, o.Policy, o.Restaurants, o.Seed)
}
