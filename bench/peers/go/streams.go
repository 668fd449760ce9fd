package main

import "sync"

func init() { register("streams", variants{"simple": streams}) }

const streamFactor = 6364136223846793005

// streams has a goroutine for each stream, all of which wait for the same channel to be closed: a new one for each
// frame.
func streams(j job) (*report, error) {
	count, err := j.count("streams", 1)
	if err != nil {
		return nil, err
	}
	bytes, err := j.count("bytes", 16)
	if err != nil {
		return nil, err
	}
	first := make([]uint64, count)
	random := numbers(1)
	for nth := range first {
		first[nth] = uint64(random.next())
	}
	values := make([]uint64, count)
	program := &streamProgram{begins: make(chan struct{}), values: values}
	program.running.Add(count)
	for nth, number := range first {
		if bytes == 64 {
			go program.eightWords(nth, number)
		} else {
			go program.twoWords(nth, number)
		}
	}
	program.running.Wait()
	all := frames{target: j.atLeast}
	var checksum uint64
	for all.goesOn() {
		all.time(func() {
			program.running.Add(count)
			begins := program.begins
			program.begins = make(chan struct{})
			close(begins)
			program.running.Wait()
		})
		if all.count() == 1 {
			checksum = sumOf(values)
		}
	}
	if err := expect("the values of all streams", sumOf(values), streamSum(first, all.count())); err != nil {
		return nil, err
	}
	return all.report(checksum), nil
}

type streamProgram struct {
	// begins is closed when a frame begins, after the next has been made.
	begins  chan struct{}
	running sync.WaitGroup
	values  []uint64
}

func (p *streamProgram) twoWords(nth int, first uint64) {
	state := [2]uint64{first}
	for {
		begins := p.begins
		p.running.Done()
		<-begins
		state[1]++
		state[0] = state[0]*streamFactor + state[1]
		p.values[nth] = state[0] >> 32
	}
}

func (p *streamProgram) eightWords(nth int, first uint64) {
	state := [8]uint64{first}
	for {
		begins := p.begins
		p.running.Done()
		<-begins
		state[7]++
		state[0] = state[0]*streamFactor + state[7]
		p.values[nth] = state[0] >> 32
	}
}

// streamSum is the sum of a plain loop after this many frames.
func streamSum(first []uint64, frames int) uint64 {
	var sum uint64
	for _, number := range first {
		for frame := range frames {
			number = number*streamFactor + uint64(frame) + 1
		}
		sum += number >> 32
	}
	return sum
}

func sumOf(values []uint64) uint64 {
	var sum uint64
	for _, value := range values {
		sum += value
	}
	return sum
}
