package main

import (
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"time"
)

func init() {
	register("wake", variants{"-": wake})
}

// The runtime is left idle for so long before it is woken up again.
const idle = 50 * time.Microsecond

func wake(j job) (*report, error) {
	if _, _, err := wakeUps(j.atLeast / 4); err != nil {
		return nil, err
	}
	latencies, took, err := wakeUps(3 * j.atLeast)
	if err != nil {
		return nil, err
	}
	slices.Sort(latencies)
	percentile := func(p float64) float64 {
		rank := int(math.Ceil(p / 100 * float64(len(latencies))))
		return float64(latencies[max(1, rank)-1])
	}
	p99 := percentile(99)
	return measured{len(latencies), took}.report(
		figure{"p50", percentile(50), &p99},
		figure{"p99", p99, &p99},
		figure{"p99.9", percentile(99.9), &p99},
	), nil
}

// wakeUps sends time stamps from a plain OS thread, which in Go is a goroutine locked to its thread. It takes up
// one of the two workers while it runs, so the receiver has the other one, which is idle for the busy wait.
//
// A send puts the receiver next in line on the sender's own worker. A sender that held on to that worker until
// the receipt would leave it to the other worker to steal the receiver, for which the scheduler is in no hurry.
// So it yields until then.
func wakeUps(period time.Duration) (latencies []time.Duration, took span, err error) {
	stamps := make(chan time.Duration)
	done := make(chan struct{})
	var received atomic.Int64
	latencies = make([]time.Duration, 0, period/idle+1)

	watch := start()
	go func() {
		defer close(done)
		for stamp := range stamps {
			latencies = append(latencies, time.Since(watch.started)-stamp)
			received.Add(1)
		}
	}()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	sent := 0
	for now := time.Duration(0); sent == 0 || now < period; sent++ {
		stamps <- time.Since(watch.started)
		for received.Load() == int64(sent) {
			runtime.Gosched()
		}
		receipt := time.Since(watch.started)
		for now = receipt; now-receipt < idle; {
			now = time.Since(watch.started)
		}
	}
	close(stamps)
	<-done
	took = watch.stop()
	return latencies, took, expect("time stamps received", len(latencies), sent)
}
