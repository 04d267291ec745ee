package launch

import "slices"

// rehouse gives the ranks of list, which are in ascending order, new seats: on their
// own host if that is open again, else in free slots of open hosts, in the order of the
// hosts. It returns those seats, and how many ranks have none.
//
// A new seat is the lowest local rank that is free there. Those that were there before
// keep theirs, and their cores: a process is told its place once.
func rehouse(seats []seat, hosts []Host, list []int, open func(host int) bool) (moved []seat, without int) {
	free := freeSlots(seats, hosts, list)
	for pass := range 2 { // a host's own ranks first
		for _, rank := range list {
			if slices.ContainsFunc(moved, func(s seat) bool { return s.rank == rank }) {
				continue
			}
			for h := range hosts {
				if open(h) && free[h] > 0 && (pass == 1 || h == seats[rank].host) {
					free[h]--
					moved = append(moved, seat{rank: rank, host: h})
					break
				}
			}
		}
	}
	slices.SortFunc(moved, func(a, b seat) int { return a.rank - b.rank })
	others := slices.DeleteFunc(slices.Clone(seats), func(s seat) bool { return slices.Contains(list, s.rank) })
	for i := range moved {
		moved[i].sit(others)
		others = append(others, moved[i])
	}
	for i := range moved {
		moved[i].of = localSize(others, moved[i].host)
	}
	return moved, len(list) - len(moved)
}

// freeSlots is how many slots each host has left, if the ranks of list give theirs back.
func freeSlots(seats []seat, hosts []Host, list []int) []int {
	free := make([]int, len(hosts))
	for h := range hosts {
		free[h] = hosts[h].Slots
	}
	for _, s := range seats {
		if !slices.Contains(list, s.rank) {
			free[s.host]--
		}
	}
	return free
}

// sit takes the lowest local rank that nobody of others has.
func (s *seat) sit(others []seat) {
	for slices.ContainsFunc(others, func(o seat) bool { return o.host == s.host && o.local == s.local }) {
		s.local++
	}
}

// localSize is by how many the cores of a host are divided: its ranks, or as many as
// those had been that were there first.
func localSize(seats []seat, host int) int {
	n, most := 0, 0
	for _, s := range seats {
		if s.host == host {
			n, most = n+1, max(most, s.of)
		}
	}
	return max(n, most)
}
