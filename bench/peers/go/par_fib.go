package main

func init() { register("par-fib", variants{"-": program(parFib)}) }

func parFib(j job) (func() uint64, error) {
	n, err := j.count("n", 0)
	if err != nil {
		return nil, err
	}
	return func() uint64 {
		result := make(chan uint64)
		go fib(uint64(n), result)
		return <-result
	}, nil
}

// Both calls of a goroutine share a channel: the order of a sum's terms does not matter.
func fib(n uint64, result chan<- uint64) {
	if n < 2 {
		result <- n
		return
	}
	terms := make(chan uint64)
	go fib(n-1, terms)
	go fib(n-2, terms)
	result <- <-terms + <-terms
}
