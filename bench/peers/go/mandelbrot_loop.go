package main

func init() { register("mandelbrot-loop", variants{"-": mandelbrotLoop}) }

func mandelbrotLoop(j job) (*report, error) {
	width, err := j.count("width", 1)
	if err != nil {
		return nil, err
	}
	height, err := j.count("height", 1)
	if err != nil {
		return nil, err
	}
	steps, err := j.count("steps", 1)
	if err != nil {
		return nil, err
	}
	picture := make([]uint16, width*height)
	return loopProgram{
		run: func() {
			inTurn(j.workers, height, func(y int) {
				mandelbrotRow(picture[y*width:][:width], y, height, uint16(steps))
			})
		},
		result: func() uint64 { return checksum(picture) },
	}.measure(j)
}

func mandelbrotRow(row []uint16, y, height int, steps uint16) {
	wide, high := 3/float64(len(row)), 3/float64(height)
	imaginary := float64(float64(y)*high) - 1.5
	for x := range row {
		row[x] = escape(float64(float64(x)*wide)-2, imaginary, steps)
	}
}
