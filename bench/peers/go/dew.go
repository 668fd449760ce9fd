package main

import (
	"errors"
	"sync"
	"unsafe"
)

func init() {
	register("dew", variants{"none": dew(none, false), "arith": dew(arith, false), "memory": dew(memory, true)})
}

//go:noinline
func none(chunk []int32) []int32 { return chunk }

// arithSink keeps the compiler from leaving out the multiplications.
var arithSink int32

// The exclusive or keeps compilers from making one of several multiplications.
//
//go:noinline
func arith(chunk []int32) []int32 {
	size := int32(len(chunk))
	x := size
	for i := int32(1); i <= size; i++ {
		x = (x * size) ^ i
	}
	if x == 0x7ead_beef {
		arithSink = x
	}
	return chunk
}

//go:noinline
func memory(chunk []int32) []int32 {
	for i := range chunk {
		chunk[i] *= 2
	}
	return chunk
}

type dewStream struct{ chunk, value []int32 }

// dew has a goroutine for each call of each frame.
func dew(function func([]int32) []int32, doubles bool) workload {
	return func(j job) (*report, error) {
		count, err := j.count("streams", 1)
		if err != nil {
			return nil, err
		}
		size, err := j.count("chunk", 1)
		if err != nil {
			return nil, err
		}
		streams := make([]dewStream, count)
		for nth := range streams {
			streams[nth].chunk = onItsLines(size)
			for i := range streams[nth].chunk {
				streams[nth].chunk[i] = int32(nth + i)
			}
		}
		all := frames{target: j.atLeast}
		var first uint64
		for all.goesOn() {
			all.time(func() {
				var calls sync.WaitGroup
				for nth := range streams {
					calls.Go(func() { streams[nth].value = function(streams[nth].chunk) })
				}
				calls.Wait()
			})
			if all.count() == 1 {
				if first, err = checkDew(streams, doubles, 1); err != nil {
					return nil, err
				}
			}
		}
		if _, err = checkDew(streams, doubles, all.count()); err != nil {
			return nil, err
		}
		return all.report(first), nil
	}
}

// onItsLines allocates a chunk on cache lines of its own.
func onItsLines(size int) []int32 {
	const line = 16 // numbers
	room := make([]int32, (size+line-1)/line*line+line)
	skip := (line - int(uintptr(unsafe.Pointer(&room[0]))/4%line)) % line
	return room[skip : skip+size : skip+size]
}

// checkDew says whether each stream has called as often as there were frames; a checksum of the last numbers.
func checkDew(streams []dewStream, doubles bool, frames int) (uint64, error) {
	factor := int32(1)
	if doubles {
		factor = int32(uint32(1) << frames)
	}
	last := make([]uint32, len(streams))
	for nth, stream := range streams {
		if len(stream.value) == 0 || &stream.value[0] != &stream.chunk[0] {
			return 0, errors.New("the value of a stream is wrong")
		}
		for i, number := range stream.chunk {
			if number != int32(nth+i)*factor {
				return 0, errors.New("the numbers of a stream are wrong")
			}
		}
		last[nth] = uint32(stream.chunk[len(stream.chunk)-1])
	}
	return checksum(last), nil
}
