package main

import "sync"

func init() {
	register("async-send", variants{
		"synchronous": func(j job) (*report, error) {
			return measure(j, sending(sendSynchronously), nanosEach)
		},
		"asynchronous": func(j job) (*report, error) {
			return measure(j, sending(sendAsynchronously), nanosEach)
		},
	})
}

// sendBatch is how many sends are under way at most.
const sendBatch = 64

func sendSynchronously(n int, messages chan<- int) {
	for i := range n {
		messages <- i
	}
}

// A WaitGroup is the least to wait for many goroutines with; so the producer waits for all of a batch.
func sendAsynchronously(n int, messages chan<- int) {
	var underway sync.WaitGroup
	for first := 0; first < n; first += sendBatch {
		last := min(n, first+sendBatch)
		underway.Add(last - first)
		for i := first; i < last; i++ {
			go func() {
				messages <- i
				underway.Done()
			}()
		}
		underway.Wait()
	}
}

func sending(produce func(n int, messages chan<- int)) body {
	return func(n int) (span, error) {
		messages := make(chan int)
		result := make(chan int)
		go func() {
			sum := 0
			for message := range messages {
				sum += message
			}
			result <- sum
		}()
		watch := start()
		produce(n, messages)
		close(messages)
		sum := <-result
		return watch.stop(), expect("sum of the messages", sum, sumBelow(n))
	}
}
