package cafes_test

import (
	"fmt"

	"noema/kernel/task/cafes"
)

func ExampleNew() {
	t, err := cafes.New(cafes.Options{N: 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	s := t.Samples[22]
	fmt.Println(len(t.Samples), "requests; one of them is", s.ID, "of group", s.Group)
	fmt.Println(s.Problem.Query)
	fmt.Println(s.Metadata["condition"])
	fmt.Println("satisfied by item", string(s.Target), "of", s.Problem.Answer.N, "which is", s.Metadata["gold"])
	// Output:
	// 100 requests; one of them is R22 of group G03
	// I'm looking for a dog-friendly place. Make sure it is one that is either loud or pricey, and is a fine choice for a late-night bite.
	// AND(attributes.DogsAllowed = true, attributes.GoodForMeal.latenight = true, OR(attributes.NoiseLevel = loud, attributes.RestaurantsPriceRange2 = 3))
	// satisfied by item [7] of 10 which is Silver Finch
}
