package main

import (
	"runtime/debug"
	"sync"
)

func init() {
	register("heap-trees", withMemory(heapTrees))
	register("heap-pauses", withMemory(heapPauses))
}

// withMemory gives each variant its share of memory: by how much the heap may grow before the next collection, in percent.
func withMemory(run workload) variants {
	variant := func(percent int) workload {
		return func(j job) (*report, error) {
			debug.SetGCPercent(percent)
			return run(j)
		}
	}
	return variants{"small": variant(50), "medium": variant(100), "large": variant(200)}
}

type binaryTree struct {
	left, right *binaryTree
}

func makeTree(depth int) *binaryTree {
	if depth == 0 {
		return &binaryTree{}
	}
	return &binaryTree{makeTree(depth - 1), makeTree(depth - 1)}
}

func (t *binaryTree) count() uint64 {
	if t.left == nil {
		return 1
	}
	return 1 + t.left.count() + t.right.count()
}

// allTrees makes and counts all trees, each goroutine its share of them. The first has the tree that lives long, and the last
// makes the largest.
func allTrees(workers, depth int) uint64 {
	totals := make([]uint64, workers)
	var done sync.WaitGroup
	for me := range workers {
		done.Go(func() {
			total := uint64(0)
			if me+1 == workers {
				total += makeTree(depth + 1).count()
			}
			var longLived *binaryTree
			if me == 0 {
				longLived = makeTree(depth)
			}
			for shallow := 4; shallow <= depth; shallow += 4 {
				trees := 1 << (depth - shallow + 4)
				for range trees*(me+1)/workers - trees*me/workers {
					total += makeTree(shallow).count()
				}
			}
			if longLived != nil {
				total += longLived.count()
			}
			totals[me] = total
		})
	}
	done.Wait()
	sum := uint64(0)
	for _, total := range totals {
		sum += total
	}
	return sum
}

func heapTrees(j job) (*report, error) {
	depth, err := j.count("depth", 4)
	if err != nil {
		return nil, err
	}
	allTrees(j.workers, max(depth-6, 4))
	return program(func(j job) (func() uint64, error) {
		return func() uint64 { return allTrees(j.workers, depth) }, nil
	})(j)
}
