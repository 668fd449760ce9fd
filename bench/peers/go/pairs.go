package main

import "sync"

func init() {
	register("pairs", variants{"-": pairs})
}

// Each pair is a ping-pong over two unbuffered channels.
func pairs(j job) (*report, error) {
	pairs, err := j.count("pairs", 1)
	if err != nil {
		return nil, err
	}
	return measure(j, func(n int) (span, error) {
		gate := make(chan struct{})
		sums := make([]int, pairs)
		want := 0
		var running sync.WaitGroup
		for p := range pairs {
			trips := n / pairs
			if p < n%pairs {
				trips++
			}
			want += sumBelow(trips)
			there, back := make(chan int), make(chan int)
			go pong(task, there, back)
			running.Go(func() {
				<-gate
				sum := 0
				for i := range trips {
					there <- i
					sum += <-back
				}
				close(there)
				sums[p] = sum
			})
		}
		watch := start()
		close(gate)
		running.Wait()
		took := watch.stop()
		total := 0
		for _, sum := range sums {
			total += sum
		}
		return took, expect("sum over all pairs", total, want)
	}, func(m measured) float64 { return 2 * perSecond(m) })
}
