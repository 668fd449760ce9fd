package main

func init() { register("fib", variants{"cut-off": forkedFib}) }

// Only above a cut-off: a goroutine for each call would take minutes.
func forkedFib(j job) (*report, error) {
	n, err := j.count("n", 5)
	if err != nil {
		return nil, err
	}
	cutOff, err := j.count("cut-off", 1)
	if err != nil {
		return nil, err
	}
	if err := expect("the number of the warm-up", fork(n-5, cutOff), fibNumber(n-5)); err != nil {
		return nil, err
	}
	sum := fibNumber(n)
	r, err := repeated(j, func() (span, error) {
		watch := start()
		result := fork(n, cutOff)
		return watch.stop(), expect("the number", result, sum)
	})
	if err == nil {
		r.Checksum = &sum
	}
	return r, err
}

// fork starts a goroutine for the first call, and makes the second itself.
func fork(n, cutOff int) uint64 {
	if n <= cutOff {
		return serialFib(n)
	}
	one := make(chan uint64, 1)
	go func() { one <- fork(n-1, cutOff) }()
	two := fork(n-2, cutOff)
	return <-one + two
}

func serialFib(n int) uint64 {
	if n < 2 {
		return uint64(n)
	}
	return serialFib(n-1) + serialFib(n-2)
}

func fibNumber(n int) uint64 {
	own, next := uint64(0), uint64(1)
	for range n {
		own, next = next, own+next
	}
	return own
}
