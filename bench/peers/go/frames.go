package main

import (
	"slices"
	"time"
)

// The times of frames. The first is not counted; of the others there are ten, and tens more until the time asked for
// is over.
type frames struct {
	target   time.Duration
	hasBegun bool
	all      []time.Duration
	span     span
}

const ten = 10

func (f *frames) goesOn() bool {
	return len(f.all) == 0 || len(f.all)%ten != 0 || f.span.elapsed < f.target
}

// count is how many there have been, with the first.
func (f *frames) count() int {
	if !f.hasBegun {
		return 0
	}
	return 1 + len(f.all)
}

// time does a frame, and keeps how long it took.
func (f *frames) time(frame func()) {
	watch := start()
	frame()
	took := watch.stop()
	if f.hasBegun {
		f.all = append(f.all, took.elapsed)
		f.span.elapsed += took.elapsed
		f.span.cpu += took.cpu
	}
	f.hasBegun = true
}

// report has the mean in milliseconds, and the worst of ten: where there are several tens, the mean of their worst.
func (f *frames) report(checksum uint64) *report {
	m := measured{len(f.all), f.span}
	r := m.report(
		figure{Name: "mean", Value: nanosEach(m) / 1e6},
		figure{Name: "worst of ten", Value: float64(f.worstOfTens().Nanoseconds()) / 1e6},
	)
	r.Checksum = &checksum
	return r
}

func (f *frames) worstOfTens() time.Duration {
	var worst time.Duration
	for tens := range slices.Chunk(f.all, ten) {
		worst += slices.Max(tens)
	}
	return worst / time.Duration(len(f.all)/ten)
}
