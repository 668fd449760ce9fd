package main

import (
	"fmt"
	"reflect"
)

func init() {
	register("wait-set", variants{
		"one-in-flight":     waitSet(1),
		"sixteen-in-flight": waitSet(16),
	})
}

// reflect.Select refuses a longer list.
const mostCases = 65536

// A receiver for a number of channels that is not known when the program is written uses reflect.Select, with a
// list of cases that is built once. (A goroutine for each channel that forwards into a single one would be faster,
// and would take messages that the receiver has not asked for.)
func waitSet(inFlight int) workload {
	return func(j job) (*report, error) {
		sources, err := j.count("sources", 1)
		if err != nil {
			return nil, err
		}
		if sources > mostCases {
			return nil, fmt.Errorf("reflect.Select takes at most %d channels: %w", mostCases, errUnsupported)
		}
		return measure(j, func(n int) (span, error) {
			channels := make([]chan int, sources)
			for source := range channels {
				channels[source] = make(chan int, 1)
			}
			answers := make(chan int, inFlight)
			received := make(chan tally, 1)
			go serveSources(channels, n, answers, received)

			// The first message is not timed, and comes by the last source, as in the other programs.
			next := route{sources: uint64(sources)}
			channels[sources-1] <- 0
			sum := <-answers
			watch := start()
			for message := 1; message <= n; message++ {
				if message > inFlight {
					sum += <-answers
				}
				channels[next.source()] <- message
			}
			for range min(inFlight, n) {
				sum += <-answers
			}
			took := watch.stop()

			if err := expect("sum of the answers", sum, sumBelow(n+1)); err != nil {
				return took, err
			}
			want, again := tally{sources: sources - 1}, route{sources: uint64(sources)}
			for message := 1; message <= n; message++ {
				want.note(again.source(), message)
			}
			if got := <-received; got != want {
				return took, fmt.Errorf("sums of what was received: got %v, want %v", got, want)
			}
			return took, nil
		}, nanosEach)
	}
}

// A route names a random source for each message: a linear congruential generator, whose upper half is scaled to
// the number of sources.
type route struct{ sources, state uint64 }

func (r *route) source() int {
	r.state = r.state*6364136223846793005 + 1442695040888963407
	return int((r.state >> 32) * r.sources >> 32)
}

// A tally counts and adds up the received messages.
type tally struct{ sources, messages int }

func (t *tally) note(source, message int) {
	t.sources += source
	t.messages += message
}

func serveSources(channels []chan int, n int, answers chan<- int, result chan<- tally) {
	cases := receiveCases(channels)
	var t tally
	for range n + 1 {
		source, v, _ := reflect.Select(cases)
		message := int(v.Int())
		t.note(source, message)
		answers <- message
	}
	result <- t
}
