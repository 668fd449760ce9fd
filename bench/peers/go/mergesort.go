package main

import "slices"

func init() { register("mergesort", variants{"-": program(mergesort)}) }

// How many numbers are sent at once. All pieces are full, as all numbers and the cut-off are powers of two.
const pieceSize = 8

type piece [pieceSize]uint32

func mergesort(j job) (func() uint64, error) {
	count, err := j.count("numbers", pieceSize)
	if err != nil {
		return nil, err
	}
	cutOff, err := j.count("cut-off", pieceSize)
	if err != nil {
		return nil, err
	}
	random := numbers(5)
	all := make([]uint32, count)
	for i := range all {
		all[i] = random.next() >> 1
	}
	return func() uint64 {
		out := make(chan piece)
		go sortInto(all, cutOff, out)
		sorted := make([]uint32, 0, len(all))
		for p := range out {
			sorted = append(sorted, p[:]...)
		}
		return checksum(sorted)
	}, nil
}

func sortInto(numbers []uint32, cutOff int, out chan<- piece) {
	defer close(out)
	if len(numbers) <= cutOff {
		few := slices.Clone(numbers)
		slices.Sort(few)
		for i := 0; i < len(few); i += pieceSize {
			out <- piece(few[i:])
		}
		return
	}
	left, right := make(chan piece), make(chan piece)
	go sortInto(numbers[:len(numbers)/2], cutOff, left)
	go sortInto(numbers[len(numbers)/2:], cutOff, right)
	merge(left, right, out)
}

func merge(left, right <-chan piece, out chan<- piece) {
	var merged piece
	filled := 0
	l, leftIs := <-left
	r, rightIs := <-right
	atLeft, atRight := 0, 0
	for leftIs || rightIs {
		if !rightIs || leftIs && l[atLeft] <= r[atRight] {
			merged[filled] = l[atLeft]
			if atLeft++; atLeft == pieceSize {
				l, leftIs = <-left
				atLeft = 0
			}
		} else {
			merged[filled] = r[atRight]
			if atRight++; atRight == pieceSize {
				r, rightIs = <-right
				atRight = 0
			}
		}
		if filled++; filled == pieceSize {
			out <- merged
			filled = 0
		}
	}
}
