package main

import "sync"

func init() {
	register("choose-all", variants{
		"threads":  chooseAll(gatherByGoroutines),
		"together": chooseAll(gatherInTurn),
	})
}

// chooseAll measures gather, which receives a number of rounds from all channels and returns the sum.
func chooseAll(gather func(rounds int, channels []chan int) int) workload {
	return func(j job) (*report, error) {
		producers, err := j.count("producers", 1)
		if err != nil {
			return nil, err
		}
		messages, err := j.count("messages", 1)
		if err != nil {
			return nil, err
		}
		return fixed{
			size:       messages,
			operations: producers * messages,
			atLeast:    j.atLeast,
			run: func(messages int) (span, error) {
				watch := start()
				channels := make([]chan int, producers)
				for p := range channels {
					channel := make(chan int)
					channels[p] = channel
					go func() {
						for i := range messages {
							channel <- i
						}
					}()
				}
				sum := gather(messages, channels)
				return watch.stop(), expect("sum of the messages", sum, producers*sumBelow(messages))
			},
			value: nanosEach,
		}.measure()
	}
}

// A WaitGroup, and a place for each message, are the least to gather with. The closures are made once.
func gatherByGoroutines(rounds int, channels []chan int) int {
	var running sync.WaitGroup
	received := make([]int, len(channels))
	receives := make([]func(), len(channels))
	for p, channel := range channels {
		receives[p] = func() {
			received[p] = <-channel
			running.Done()
		}
	}
	sum := 0
	for range rounds {
		running.Add(len(channels))
		for _, receive := range receives {
			go receive()
		}
		running.Wait()
		for _, message := range received {
			sum += message
		}
	}
	return sum
}

// To have all messages it makes no difference in which order they come.
func gatherInTurn(rounds int, channels []chan int) int {
	sum := 0
	for range rounds {
		for _, channel := range channels {
			sum += <-channel
		}
	}
	return sum
}
