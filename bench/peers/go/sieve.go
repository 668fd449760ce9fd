package main

import "sync/atomic"

func init() {
	register("sieve", variants{"-": sieve})
}

func sieve(j job) (*report, error) {
	primes, err := j.count("primes", 1)
	if err != nil {
		return nil, err
	}
	return fixed{
		size:       primes,
		operations: 1,
		atLeast:    j.atLeast,
		run:        sieveUpTo,
		value:      func(m measured) float64 { return nanosEach(m) / 1e6 },
	}.measure()
}

// The well-known sieve of Go's tutorial, but with an end to it: the generator looks at a flag, which costs less
// than a second arm in a select statement would in all the filters, and closing runs down the chain.
func sieveUpTo(primes int) (span, error) {
	var enough atomic.Bool
	last := 0

	watch := start()
	numbers := make(chan int)
	go generate(numbers, &enough)
	tail := numbers
	for range primes {
		last = <-tail
		next := make(chan int)
		go filter(last, tail, next)
		tail = next
	}
	took := watch.stop()

	enough.Store(true)
	for range tail {
	}
	return took, expect("the last prime", last, prime(primes))
}

func generate(numbers chan<- int, enough *atomic.Bool) {
	for i := 2; !enough.Load(); i++ {
		numbers <- i
	}
	close(numbers)
}

func filter(prime int, in <-chan int, out chan<- int) {
	for v := range in {
		if v%prime != 0 {
			out <- v
		}
	}
	close(out)
}

// prime finds the nth prime by trial division, for the check.
func prime(n int) int {
	var primes []int
	for candidate := 2; len(primes) < n; candidate++ {
		if !hasDivisor(candidate, primes) {
			primes = append(primes, candidate)
		}
	}
	return primes[n-1]
}

func hasDivisor(candidate int, primes []int) bool {
	for _, p := range primes {
		if p*p > candidate {
			return false
		}
		if candidate%p == 0 {
			return true
		}
	}
	return false
}
