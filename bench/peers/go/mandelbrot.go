package main

func init() { register("mandelbrot", variants{"-": program(mandelbrot)}) }

func mandelbrot(j job) (func() uint64, error) {
	side, err := j.count("side", 1)
	if err != nil {
		return nil, err
	}
	steps, err := j.count("steps", 1)
	if err != nil {
		return nil, err
	}
	return func() uint64 {
		return checksum(inOrder(side, func(y int) []uint16 { return escapes(side, y, uint16(steps)) })...)
	}, nil
}

func escapes(side, y int, most uint16) []uint16 {
	scale := 3 / float64(side)
	imaginary := float64(float64(y)*scale) - 1.5
	row := make([]uint16, side)
	for x := range row {
		row[x] = escape(float64(float64(x)*scale)-2, imaginary, most)
	}
	return row
}

// The conversions keep a compiler from rounding less often than the other languages do.
func escape(real, imaginary float64, most uint16) uint16 {
	x, y := 0.0, 0.0
	steps := uint16(0)
	for steps < most {
		xx, yy := float64(x*x), float64(y*y)
		if xx+yy > 4 {
			break
		}
		y = float64(2*x*y) + imaginary
		x = xx - yy + real
		steps++
	}
	return steps
}
