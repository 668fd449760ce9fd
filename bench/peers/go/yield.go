package main

import (
	"runtime"
	"sync"
)

func init() {
	register("yield", variants{"-": yield})
}

func yield(j job) (*report, error) {
	return measure(j, yieldInTurn, nanosEach)
}

// runtime.Gosched is Go's yield: it puts the goroutine at the end of the scheduler's queue.
func yieldInTurn(n int) (span, error) {
	done := make([]int, 2)
	gate := make(chan struct{})
	var running sync.WaitGroup
	for side, yields := range []int{n / 2, n - n/2} {
		running.Go(func() {
			<-gate
			count := 0
			for range yields {
				runtime.Gosched()
				count++
			}
			done[side] = count
		})
	}
	watch := start()
	close(gate)
	running.Wait()
	return watch.stop(), expect("yields", done[0]+done[1], n)
}
