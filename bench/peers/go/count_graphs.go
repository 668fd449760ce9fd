package main

import "math/bits"

func init() { register("count-graphs", variants{"-": program(countGraphs)}) }

// For each vertex the set of its neighbours, a bit each.
type graph []uint32

func countGraphs(j job) (func() uint64, error) {
	vertices, err := j.count("vertices", 1)
	if err != nil {
		return nil, err
	}
	count, err := j.count("graphs", 1)
	if err != nil {
		return nil, err
	}
	random := numbers(4)
	graphs := make([]graph, count)
	for i := range graphs {
		graphs[i] = newGraph(vertices, &random)
	}
	return func() uint64 {
		return checksum(inOrder(len(graphs), func(i int) uint64 {
			g := graphs[i]
			parts := make(chan uint64)
			for image := range g {
				go func() { parts <- g.symmetries(image) }()
			}
			sum := uint64(0)
			for range g {
				sum += <-parts
			}
			return sum
		}))
	}, nil
}

// Vertices of one kind have the same neighbours, so that there are symmetries to be found.
const graphKinds = 5

func newGraph(vertices int, random *numbers) graph {
	var joined [graphKinds][graphKinds]bool
	for a := range graphKinds {
		for b := range a + 1 {
			joined[a][b] = random.below(2) == 1
			joined[b][a] = joined[a][b]
		}
	}
	g := make(graph, vertices)
	for a := range g {
		for b := range g {
			if a != b && joined[a%graphKinds][b%graphKinds] {
				g[a] |= 1 << b
			}
		}
	}
	return g
}

// How many symmetries bring the first vertex to image.
func (g graph) symmetries(image int) uint64 {
	images := [32]int{image}
	all := ^uint32(0) >> (32 - len(g))
	return g.extensions(&images, 1, all&^(1<<image))
}

// In how many ways the images of the first vertices can be extended by vertices that are free.
func (g graph) extensions(images *[32]int, mapped int, free uint32) uint64 {
	if mapped == len(g) {
		return 1
	}
	neighbours := g[mapped]
	candidates := free
	for vertex, image := range images[:mapped] {
		if neighbours>>vertex&1 == 1 {
			candidates &= g[image]
		} else {
			candidates &^= g[image]
		}
	}
	sum := uint64(0)
	for candidates != 0 {
		image := bits.TrailingZeros32(candidates)
		candidates &= candidates - 1
		images[mapped] = image
		sum += g.extensions(images, mapped+1, free&^(1<<image))
	}
	return sum
}
