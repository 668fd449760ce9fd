package main

import (
	"sync"
	"sync/atomic"
)

func init() {
	register("task-call", variants{
		"joined": func(j job) (*report, error) {
			return measure(j, callJoined, nanosEach)
		},
		"detached": func(j job) (*report, error) {
			return measure(j, callDetached, nanosEach)
		},
	})
}

// callBatch is how many goroutines are spawned before the detached ones get to run.
const callBatch = 64

//go:noinline
func work(i int) int { return i }

// A channel brings the result of each, always the same one.
func callJoined(n int) (span, error) {
	result := make(chan int)
	sum := 0
	watch := start()
	for i := range n {
		go func() { result <- work(i) }()
		sum += <-result
	}
	return watch.stop(), expect("sum of the results", sum, sumBelow(n))
}

// A WaitGroup tells that all of a batch have run. A goroutine can be preempted anywhere, so the sum is atomic.
func callDetached(n int) (span, error) {
	var sum atomic.Int64
	var running sync.WaitGroup
	watch := start()
	for first := 0; first < n; first += callBatch {
		last := min(n, first+callBatch)
		running.Add(last - first)
		for i := first; i < last; i++ {
			go func() {
				sum.Add(int64(work(i)))
				running.Done()
			}()
		}
		running.Wait()
	}
	return watch.stop(), expect("sum of the results", int(sum.Load()), sumBelow(n))
}
