package main

import (
	"sync"
	"sync/atomic"
)

func init() {
	register("inflation", variants{"-": inflation})
}

func inflation(j job) (*report, error) {
	threads, err := j.count("threads", 1)
	if err != nil {
		return nil, err
	}
	steps, err := j.count("steps", 1)
	if err != nil {
		return nil, err
	}
	result := compute(1, steps)
	return fixed{
		size:       threads,
		operations: 1,
		atLeast:    j.atLeast,
		run: func(threads int) (span, error) {
			var sum atomic.Uint64
			var running sync.WaitGroup
			watch := start()
			for range threads {
				running.Go(func() { sum.Add(compute(1, steps)) })
			}
			running.Wait()
			took := watch.stop()
			return took, expect("sum of the results", int(sum.Load()), int(result*uint64(threads)))
		},
		value: func(m measured) float64 { return m.elapsed.Seconds() * 1e3 / float64(m.operations) },
	}.measure()
}

// compute is xorshift: a chain of which each step needs the result of the one before.
//
//go:noinline
func compute(x uint64, steps int) uint64 {
	for range steps {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}
