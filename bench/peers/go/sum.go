package main

func init() { register("sum", variants{"u64": sum[uint64], "f64": sum[float64]}) }

// The numbers are whole, and so a sum of floats is the same in whichever order.
func sum[T uint64 | float64](j job) (*report, error) {
	count, err := j.count("numbers", 1)
	if err != nil {
		return nil, err
	}
	all := make([]T, count)
	random := numbers(1)
	for i := range all {
		all[i] = T(random.below(1 << 20))
	}
	var total T
	return loopProgram{
		run: func() {
			sums := make(chan T, j.workers)
			inShares(j.workers, count, func(from, to int) {
				var own T
				for _, number := range all[from:to] {
					own += number
				}
				sums <- own
			})
			total = 0
			for range j.workers {
				total += <-sums
			}
		},
		result: func() uint64 { return uint64(total) },
	}.measure(j)
}
