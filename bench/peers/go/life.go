package main

func init() { register("life", variants{"-": life}) }

// A cell is a byte, 1 if it lives.
func life(j job) (*report, error) {
	side, err := j.count("side", 3)
	if err != nil {
		return nil, err
	}
	generations, err := j.count("generations", 1)
	if err != nil {
		return nil, err
	}
	first := make([]uint8, side*side)
	random := numbers(1)
	for i := range first {
		if random.below(4) == 0 {
			first[i] = 1
		}
	}
	now, next := make([]uint8, side*side), make([]uint8, side*side)
	return loopProgram{
		reset: func() { copy(now, first) },
		run: func() {
			for range generations {
				inShares(j.workers, side, func(from, to int) {
					for y := from; y < to; y++ {
						lifeRow(now, y, next[y*side:][:side])
					}
				})
				now, next = next, now
			}
		},
		result: func() uint64 { return checksum(now) },
	}.measure(j)
}

func lifeRow(now []uint8, y int, next []uint8) {
	side := len(next)
	above, here, below := now[(y+side-1)%side*side:][:side], now[y*side:][:side], now[(y+1)%side*side:][:side]
	for x := 1; x < side-1; x++ {
		next[x] = lives(above, here, below, x-1, x, x+1)
	}
	next[0] = lives(above, here, below, side-1, 0, 1)
	next[side-1] = lives(above, here, below, side-2, side-1, 0)
}

func lives(above, here, below []uint8, left, x, right int) uint8 {
	around := above[left] + above[x] + above[right] + here[left] + here[right] + below[left] + below[x] + below[right]
	if around|here[x] == 3 {
		return 1
	}
	return 0
}
