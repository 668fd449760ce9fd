package main

import "math"

func init() { register("k-clustering", variants{"-": program(kClustering)}) }

const (
	clusteringPoints     = 1024
	clusteringDimensions = 16
	clusteringExtent     = 1 << 12
)

type point [clusteringDimensions]int32

type assignment struct{ point, cluster int }

// Stages are servers. The first ones find the nearest center of each of their points; the caller makes the next
// centers from their messages.
func kClustering(j job) (func() uint64, error) {
	clusters, err := j.count("clusters", 1)
	if err != nil {
		return nil, err
	}
	servers, err := j.count("servers", 1)
	if err != nil {
		return nil, err
	}
	rounds, err := j.count("rounds", 1)
	if err != nil {
		return nil, err
	}
	random := numbers(2)
	points := make([]point, clusteringPoints)
	for i := range points {
		for d := range points[i] {
			points[i][d] = int32(random.below(clusteringExtent))
		}
	}
	return func() uint64 {
		assigned := make(chan assignment)
		work := make([]chan []point, servers)
		share := len(points) / servers
		for s := range work {
			work[s] = make(chan []point)
			go func() {
				for centers := range work[s] {
					for i := s * share; i < (s+1)*share; i++ {
						assigned <- assignment{i, nearest(centers, &points[i])}
					}
				}
			}()
		}
		centers := points[:clusters]
		for range rounds {
			for _, server := range work {
				server <- centers
			}
			centers = nextCenters(points, centers, assigned)
		}
		for _, server := range work {
			close(server)
		}
		var coordinates []int32
		for i := range centers {
			coordinates = append(coordinates, centers[i][:]...)
		}
		return checksum(coordinates)
	}, nil
}

func nearest(centers []point, p *point) int {
	found, least := 0, int32(math.MaxInt32)
	for cluster := range centers {
		center := &centers[cluster]
		distance := int32(0)
		for d := range center {
			distance += (center[d] - p[d]) * (center[d] - p[d])
		}
		if distance < least {
			found, least = cluster, distance
		}
	}
	return found
}

func nextCenters(points, centers []point, assigned <-chan assignment) []point {
	sums := make([]point, len(centers))
	counts := make([]int32, len(centers))
	for range points {
		a := <-assigned
		for d, coordinate := range &points[a.point] {
			sums[a.cluster][d] += coordinate
		}
		counts[a.cluster]++
	}
	for cluster, count := range counts {
		if count == 0 {
			sums[cluster] = centers[cluster]
			continue
		}
		for d := range sums[cluster] {
			sums[cluster][d] /= count
		}
	}
	return sums
}
