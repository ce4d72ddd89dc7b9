package geo

import "slices"

// sortFirst brings the n smallest elements to the front, in order; the rest is left in any
// order. It is the quicksort of Bentley and McIlroy ("Engineering a Sort Function", 1993),
// which goes on only where the first n may be. It must be that one, since it is not
// stable: which of two places that are equally far away comes first, and
// which is cut off, depends on each swap, and Redis uses it where COUNT cuts a result.
func sortFirst(list []found, n int, compare func(a, b *found) int) {
	for n > 0 {
		if len(list) < 7 {
			insertionSort(list, compare)
			return
		}
		p := pivot(list, compare)
		list[0], list[p] = list[p], list[0]
		below, above := partition(list, compare)
		if below > 1 {
			sortFirst(list[:below], n, compare)
		}
		if len(list)-above < 2 {
			return
		}
		n -= above
		list = list[above:]
	}
}

func insertionSort(list []found, compare func(a, b *found) int) {
	for i := range list {
		for j := i; j > 0 && compare(&list[j-1], &list[j]) > 0; j-- {
			list[j-1], list[j] = list[j], list[j-1]
		}
	}
}

// pivot returns the middle one, or the median of three or nine.
func pivot(list []found, compare func(a, b *found) int) int {
	median := func(a, b, c int) int {
		if compare(&list[a], &list[b]) < 0 {
			switch {
			case compare(&list[b], &list[c]) < 0:
				return b
			case compare(&list[a], &list[c]) < 0:
				return c
			}
			return a
		}
		switch {
		case compare(&list[b], &list[c]) > 0:
			return b
		case compare(&list[a], &list[c]) < 0:
			return a
		}
		return c
	}
	low, mid, high := 0, len(list)/2, len(list)-1
	if len(list) == 7 {
		return mid
	}
	if len(list) > 40 {
		d := len(list) / 8
		low, mid, high = median(low, low+d, low+2*d), median(mid-d, mid, mid+d), median(high-2*d, high-d, high)
	}
	return median(low, mid, high)
}

// partition divides the list by its first element: smaller ones are those before below,
// larger ones those from above on. Equal ones gather at both ends and go to the
// middle last.
func partition(list []found, compare func(a, b *found) int) (below, above int) {
	first := &list[0]
	a, b := 1, 1
	c, d := len(list)-1, len(list)-1
	for {
		for ; b <= c; b++ {
			r := compare(&list[b], first)
			if r > 0 {
				break
			}
			if r == 0 {
				list[a], list[b] = list[b], list[a]
				a++
			}
		}
		for ; b <= c; c-- {
			r := compare(&list[c], first)
			if r < 0 {
				break
			}
			if r == 0 {
				list[c], list[d] = list[d], list[c]
				d--
			}
		}
		if b > c {
			break
		}
		list[b], list[c] = list[c], list[b]
		b++
		c--
	}
	swapRuns(list, 0, b, min(a, b-a))
	swapRuns(list, b, len(list), min(d-c, len(list)-1-d))
	return b - a, len(list) - (d - c)
}

// swapRuns exchanges the n elements from start on with those before end.
func swapRuns(list []found, start, end, n int) {
	for i := range n {
		list[start+i], list[end-n+i] = list[end-n+i], list[start+i]
	}
}

// arrange sorts the list as asked for, and cuts it.
func (q *query) arrange(list []found) []found {
	n := len(list)
	if q.count > 0 {
		n = int(min(int64(n), q.count))
	}
	compare := func(a, b *found) int {
		switch {
		case a.metres < b.metres:
			return -1
		case a.metres > b.metres:
			return 1
		}
		return 0
	}
	order := q.ordering()
	if order == farthest {
		nearer := compare
		compare = func(a, b *found) int { return nearer(b, a) }
	}
	switch {
	case order == asFound:
	case n == len(list):
		slices.SortStableFunc(list, func(a, b found) int { return compare(&a, &b) })
	default:
		sortFirst(list, n, compare)
	}
	return list[:n]
}
