// Command abacus adds up its arguments.
package main

import (
	"fmt"
	"os"
)

// Sum adds numbers.
func Sum(numbers ...float64) (total float64) {
	for _, n := range numbers {
		total += n
	}
	return
}

func main() { fmt.Println(Sum(), len(os.Args)) }
