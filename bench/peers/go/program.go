package main

// A program does all of its work once and gives a checksum, which the runner compares with the other systems'.
// The input is not timed, so the function that makes the program makes it.
func program(input func(job) (func() uint64, error)) workload {
	return func(j job) (*report, error) {
		run, err := input(j)
		if err != nil {
			return nil, err
		}
		var sum *uint64 // of the first run, which is not measured
		r, err := fixed{
			operations: 1,
			atLeast:    j.atLeast,
			run: func(int) (span, error) {
				watch := start()
				result := run()
				took := watch.stop()
				if sum == nil {
					sum = &result
				}
				return took, expect("the checksum of another run", result, *sum)
			},
			value: func(m measured) float64 { return nanosEach(m) / 1e6 },
		}.measure()
		if err == nil {
			r.Checksum = sum
		}
		return r, err
	}
}

// inOrder has a goroutine for each number below count, which sends the part of that number, and gives the parts in
// the order of their numbers.
func inOrder[T any](count int, part func(int) T) []T {
	type numbered struct {
		nth  int
		part T
	}
	parts := make(chan numbered)
	for nth := range count {
		go func() { parts <- numbered{nth, part(nth)} }()
	}
	all := make([]T, count)
	for range all {
		one := <-parts
		all[one.nth] = one.part
	}
	return all
}

// checksum of numbers in their order: FNV-1a, on whole numbers in the place of bytes.
func checksum[T uint8 | uint16 | uint32 | uint64 | int | int32 | float64](rows ...[]T) uint64 {
	sum := uint64(0xcbf29ce484222325)
	for _, row := range rows {
		for _, number := range row {
			sum = (sum ^ uint64(number)) * 0x100000001b3
		}
	}
	return sum
}

// numbers look random and are the same in every language.
type numbers uint64

func (n *numbers) next() uint32 {
	*n = *n*6364136223846793005 + 1442695040888963407
	return uint32(*n >> 32)
}

func (n *numbers) below(bound uint32) uint32 { return n.next() % bound }
