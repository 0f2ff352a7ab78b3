package arithmetic_test

import (
	"context"
	"fmt"

	"noema/kernel/task/arithmetic"
	"noema/methods"
)

func Example() {
	t, err := arithmetic.New(arithmetic.Options{N: 1, Level: 2, Seed: 7})
	if err != nil {
		panic(err)
	}
	s := t.Samples[0]
	fmt.Println(s.Problem.Query)
	fmt.Println(string(s.Target))
	r, err := t.Environment.Call(context.Background(), methods.ToolCall{Name: "divide", Arguments: []byte(`{"a": 9, "b": 0}`)})
	fmt.Println(r.IsError, r.Content, err)
	// Output:
	// Ben is 52 years old. Ben gets 15 trays with 21 eggs in each. The next day, Ben loses 17 eggs. How many eggs does Ben have now?
	// 298
	// true division by zero: divide(9, 0) <nil>
}
