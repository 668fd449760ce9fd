package main

import "math"

func init() { register("matmul", variants{"-": matmul}) }

func matmul(j job) (*report, error) {
	side, err := j.count("side", 1)
	if err != nil {
		return nil, err
	}
	random := numbers(1)
	matrix := func() []float64 {
		all := make([]float64, side*side)
		for i := range all {
			all[i] = float64(random.below(100)) / 7
		}
		return all
	}
	left, right := matrix(), matrix()
	product := make([]float64, side*side)
	return loopProgram{
		run: func() {
			inShares(j.workers, side, func(from, to int) {
				for y := from; y < to; y++ {
					matmulRow(left[y*side:][:side], right, product[y*side:][:side])
				}
			})
		},
		result: func() uint64 { return checksum(bitsOf(product)) },
	}.measure(j)
}

// The conversion keeps a compiler from rounding less often than the other languages do.
func matmulRow(left, right, product []float64) {
	clear(product)
	for k, factor := range left {
		others := right[k*len(product):][:len(product)]
		for x := range product {
			product[x] += float64(factor * others[x])
		}
	}
}

func bitsOf(floats []float64) []uint64 {
	bits := make([]uint64, len(floats))
	for i, float := range floats {
		bits[i] = math.Float64bits(float)
	}
	return bits
}
