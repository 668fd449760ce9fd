package main

// A program does all of its work once and gives a checksum, which the runner compares with that of the other
// systems. Input that it makes is not timed, so it is made by what makes the program.
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

// checksum adds a number to the checksum of those before it, which is fnvBasis at first.
func checksum(before, number uint64) uint64 { return (before ^ number) * 0x100000001b3 }

const fnvBasis uint64 = 0xcbf29ce484222325

// numbers look random and are the same in every language.
type numbers uint64

func (n *numbers) next() uint32 {
	*n = *n*6364136223846793005 + 1442695040888963407
	return uint32(*n >> 32)
}

func (n *numbers) below(bound uint32) uint32 { return n.next() % bound }
