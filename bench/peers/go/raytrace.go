package main

func init() { register("raytrace", variants{"-": program(raytrace)}) }

func raytrace(j job) (func() uint64, error) {
	side, err := j.count("side", 1)
	if err != nil {
		return nil, err
	}
	s := newScene()
	return func() uint64 {
		return checksum(inOrder(side, func(y int) []uint32 { return s.row(side, y) })...)
	}, nil
}

func (s scene) row(side, y int) []uint32 {
	row := make([]uint32, side)
	for x := range row {
		row[x] = s.pixel(side, x, y)
	}
	return row
}

func (s scene) pixel(side, x, y int) uint32 {
	place := func(nth int) float64 { return (float64(nth)+0.5)/float64(side) - 0.5 }
	eye := vec3{0, 2, -8}
	colour := s.colour(eye, vec3{place(x), -place(y) - 0.15, 1}.unit())
	return colourByte(colour.x)<<16 | colourByte(colour.y)<<8 | colourByte(colour.z)
}

func colourByte(part float64) uint32 { return uint32(float64(min(part, 1)*255) + 0.5) }
