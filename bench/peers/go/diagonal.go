package main

import (
	"fmt"
	"math"
)

func init() {
	register("diagonal", variants{"-": diagonals})
}

func diagonals(j job) (*report, error) {
	dimensions, err := j.count("dimensions", 1)
	if err != nil {
		return nil, err
	}
	// Small whole numbers, so that adding their squares in any order gives the same sum.
	sides := make([]float64, dimensions)
	squares := 0
	for i := range sides {
		sides[i] = float64(i + 1)
		squares += (i + 1) * (i + 1)
	}
	want := math.Sqrt(float64(squares))

	return measure(j, func(n int) (span, error) {
		wrong := 0
		watch := start()
		for range n {
			if diagonal(sides) != want {
				wrong++
			}
		}
		took := watch.stop()
		if wrong != 0 {
			return took, fmt.Errorf("%d of %d diagonals are wrong", wrong, n)
		}
		return took, nil
	}, nanosEach)
}

// The go statement is all that a task costs; a fresh channel is cheap beside a hundred of them.
func diagonal(sides []float64) float64 {
	squares := make(chan float64)
	result := make(chan float64)
	go func() {
		sum := 0.0
		for range sides {
			sum += <-squares
		}
		result <- math.Sqrt(sum)
	}()
	for _, side := range sides {
		go func() { squares <- side * side }()
	}
	return <-result
}
