package main

import "sync"

func init() { register("heap-lru", withMemory(heapLru)) }

// How many times each entry is asked for on average.
const lruTimes = 2

type lruValue struct{ numbers [4]uint64 }

type lruEntry struct {
	key          uint64
	value        *lruValue
	older, newer *lruEntry
	next         *lruEntry // of its bucket
}

// An lru keeps the entries that were used last.
type lru struct {
	lock           sync.Mutex
	buckets        []*lruEntry
	newest, oldest *lruEntry
}

func newLru(entries int) *lru {
	buckets := 1
	for buckets < entries {
		buckets *= 2
	}
	return &lru{buckets: make([]*lruEntry, buckets)}
}

func (c *lru) bucket(key uint64) **lruEntry { return &c.buckets[key&uint64(len(c.buckets)-1)] }

func (c *lru) push(entry *lruEntry) {
	entry.older, entry.newer = c.newest, nil
	if c.newest == nil {
		c.oldest = entry
	} else {
		c.newest.newer = entry
	}
	c.newest = entry
}

func (c *lru) unlink(entry *lruEntry) {
	if entry.older == nil {
		c.oldest = entry.newer
	} else {
		entry.older.newer = entry.newer
	}
	if entry.newer == nil {
		c.newest = entry.older
	} else {
		entry.newer.older = entry.older
	}
}

func (c *lru) evict() {
	oldest := c.oldest
	c.unlink(oldest)
	at := c.bucket(oldest.key)
	for *at != oldest {
		at = &(*at).next
	}
	*at = oldest.next
}

func (c *lru) insert(key uint64) {
	bucket := c.bucket(key)
	entry := &lruEntry{key: key, value: &lruValue{[4]uint64{key}}, next: *bucket}
	*bucket = entry
	c.push(entry)
}

// lookUp gives the first number of the value, if the key is found, and 0.
func (c *lru) lookUp(key uint64) uint64 {
	c.lock.Lock()
	defer c.lock.Unlock()
	entry := *c.bucket(key)
	for entry != nil && entry.key != key {
		entry = entry.next
	}
	if entry == nil {
		c.evict()
		c.insert(key)
		return 0
	}
	if c.newest != entry {
		c.unlink(entry)
		c.push(entry)
	}
	return entry.value.numbers[0]
}

func heapLru(j job) (*report, error) {
	entries, err := j.count("entries", 1)
	if err != nil {
		return nil, err
	}
	cache := newLru(entries)
	for key := range uint64(entries) {
		cache.insert(key)
	}
	each := lruTimes * entries / j.workers
	sums := make([]uint64, j.workers)
	var done sync.WaitGroup
	watch := start()
	for me := range j.workers {
		done.Go(func() {
			random, sum := uint64(me), uint64(0)
			for range each {
				random = random*6364136223846793005 + 1442695040888963407
				sum += cache.lookUp((random >> 20 & 0xffffffff) % (2 * uint64(entries)))
			}
			sums[me] = sum
		})
	}
	done.Wait()
	m := measured{each * j.workers, watch.stop()}
	r := m.report(figure{Value: nanosEach(m)})
	if j.workers == 1 {
		r.Checksum = &sums[0]
	}
	return r, nil
}
