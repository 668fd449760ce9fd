package main

import (
	"math"
	"math/bits"
	"runtime"
	"sync"
	"time"
)

type tableNode struct {
	left, right *tableNode
	_           [4]uint64
}

type garbage struct {
	number uint64
	next   *garbage
}

// The bytes of an object of the tables, with what a heap adds.
const tableNodeBytes = 56

// steps counts how many steps took how long. A range of times is an eighth of a power of two; below 16 ns each time is one.
type steps struct {
	counts  [512]uint64
	longest uint64
}

func (s *steps) add(nanos uint64) {
	shift := max(bits.Len64(nanos|1)-4, 0)
	s.counts[shift<<3+int(nanos>>shift)]++
	s.longest = max(s.longest, nanos)
}

// micros is how long this part of the steps took at most: the end of a range.
func (s *steps) micros(part float64) float64 {
	enough, seen := uint64(math.Ceil(float64(s.number())*part)), uint64(0)
	for at, count := range s.counts {
		if seen += count; seen >= enough {
			shift := max(at>>3-1, 0)
			end := uint64(at-shift<<3)<<shift + (1<<shift - 1)
			return float64(min(end, s.longest)) / 1e3
		}
	}
	panic("all steps are counted")
}

func (s *steps) number() uint64 {
	sum := uint64(0)
	for _, count := range s.counts {
		sum += count
	}
	return sum
}

func replaceForAWhile(me uint64, table []*tableNode, length time.Duration) *steps {
	counted := &steps{}
	random := 88172645463325252 + me
	size := uint64(len(table))
	began := time.Now()
	last := began
	for last.Sub(began) < length {
		random ^= random << 13
		random ^= random >> 7
		random ^= random << 17
		var list *garbage
		for number := range uint64(20) {
			list = &garbage{number, list}
		}
		runtime.KeepAlive(list)
		if random%8 == 0 {
			to, from := (random>>20)%size, (random>>40)%size
			table[to] = &tableNode{left: table[from]}
			table[from] = nil
		}
		now := time.Now()
		counted.add(uint64(now.Sub(last)))
		last = now
	}
	return counted
}

func heapPauses(j job) (*report, error) {
	mib, err := j.count("mib", 1)
	if err != nil {
		return nil, err
	}
	millis, err := j.count("millis", 1)
	if err != nil {
		return nil, err
	}
	tables := make([][]*tableNode, j.workers)
	var ready, done sync.WaitGroup
	all := make([]*steps, j.workers)
	begin := make(chan struct{})
	for me := range j.workers {
		ready.Add(1)
		done.Go(func() {
			runtime.LockOSThread()
			tables[me] = make([]*tableNode, mib<<20/tableNodeBytes/j.workers)
			for at := range tables[me] {
				tables[me][at] = new(tableNode)
			}
			ready.Done()
			<-begin
			all[me] = replaceForAWhile(uint64(me), tables[me], time.Duration(millis)*time.Millisecond)
		})
	}
	ready.Wait()
	watch := start()
	close(begin)
	done.Wait()
	sum := &steps{}
	for _, one := range all {
		for at, count := range one.counts {
			sum.counts[at] += count
		}
		sum.longest = max(sum.longest, one.longest)
	}
	m := measured{int(sum.number()), watch.stop()}
	return m.report(
		figure{Name: "p99", Value: sum.micros(0.99)},
		figure{Name: "p99.99", Value: sum.micros(0.9999)},
		figure{Name: "p99.9999", Value: sum.micros(0.999999)},
		figure{Name: "longest", Value: float64(sum.longest) / 1e3},
		figure{Name: "steps", Value: float64(sum.number()) / float64(millis) / 1e3},
	), nil
}
