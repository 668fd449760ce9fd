package main

func init() {
	register("chain", variants{
		"rendezvous": chain(0),
		"buffered":   chain(64),
	})
}

// A goroutine for each stage, and the end of the stream told by closing the channel: Go's pipeline. A loop over
// a channel with range is its fastest receive, for there is no other arm to look at.
func chain(capacity int) workload {
	return func(j job) (*report, error) {
		relays, err := j.count("relays", 0)
		if err != nil {
			return nil, err
		}
		return measure(j, func(n int) (span, error) {
			first := make(chan int, capacity)
			last := first
			for range relays {
				next := make(chan int, capacity)
				go relay(last, next)
				last = next
			}
			sum := 0
			watch := start()
			go func() {
				for i := range n {
					first <- i
				}
				close(first)
			}()
			for v := range last {
				sum += v
			}
			return watch.stop(), expect("sum at the end of the chain", sum, sumBelow(n))
		}, func(m measured) float64 { return perSecond(m) * float64(relays+1) })
	}
}

func relay(in <-chan int, out chan<- int) {
	for v := range in {
		out <- v
	}
	close(out)
}
