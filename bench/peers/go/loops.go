package main

import (
	"sync"
	"sync/atomic"
)

// inShares has a goroutine for each worker, which does its share of the numbers below count: an equal one, which is
// the best where all take the same time.
func inShares(workers, count int, do func(from, to int)) {
	var all sync.WaitGroup
	for nth := range workers {
		all.Go(func() { do(count*nth/workers, count*(nth+1)/workers) })
	}
	all.Wait()
}

// inTurn has a goroutine for each worker, which takes the next of the numbers below count until there is none.
func inTurn(workers, count int, do func(nth int)) {
	var all sync.WaitGroup
	var next atomic.Int64
	for range workers {
		all.Go(func() {
			for nth := int(next.Add(1)) - 1; nth < count; nth = int(next.Add(1)) - 1 {
				do(nth)
			}
		})
	}
	all.Wait()
}

// A loopProgram is run again and again: its input is made again before each run, and its result looked at after it.
// Neither is timed.
type loopProgram struct {
	reset  func()
	run    func()
	result func() uint64
}

func (p loopProgram) measure(j job) (*report, error) {
	once := func() (span, uint64) {
		if p.reset != nil {
			p.reset()
		}
		watch := start()
		p.run()
		took := watch.stop()
		return took, p.result()
	}
	_, sum := once() // To warm up.
	r, err := repeated(j, func() (span, error) {
		took, again := once()
		return took, expect("the checksum of another run", again, sum)
	})
	if err == nil {
		r.Checksum = &sum
	}
	return r, err
}

// repeated is how many milliseconds a run takes.
func repeated(j job, run func() (span, error)) (*report, error) {
	var m measured
	for m.operations == 0 || m.elapsed < j.atLeast {
		took, err := run()
		if err != nil {
			return nil, err
		}
		m.operations++
		m.elapsed += took.elapsed
		m.cpu += took.cpu
	}
	return m.report(figure{Value: nanosEach(m) / 1e6}), nil
}
