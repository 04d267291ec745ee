package hosts

import "slices"

// Reassign finds new assignments for ranks, which are in ascending order. A rank returns to
// its own host if that host is open again, else it takes a free slot of an open host, in the
// order of the hosts. Reassign returns the new assignments and the number of ranks without
// one.
//
// A new assignment has the lowest local rank that is free on its host. Ranks that run there
// keep their local ranks and their cores: a process learns its place once.
func Reassign(current []Assignment, hosts []Host, ranks []int, open func(host int) bool) (moved []Assignment, without int) {
	free := FreeSlots(current, hosts, ranks)
	for pass := range 2 { // a host's own ranks first
		for _, rank := range ranks {
			if slices.ContainsFunc(moved, func(s Assignment) bool { return s.Rank == rank }) {
				continue
			}
			for h := range hosts {
				if open(h) && free[h] > 0 && (pass == 1 || h == current[rank].Host) {
					free[h]--
					moved = append(moved, Assignment{Rank: rank, Host: h})
					break
				}
			}
		}
	}
	slices.SortFunc(moved, func(a, b Assignment) int { return a.Rank - b.Rank })
	others := slices.DeleteFunc(slices.Clone(current), func(s Assignment) bool { return slices.Contains(ranks, s.Rank) })
	for i := range moved {
		moved[i].takeLocalRank(others)
		others = append(others, moved[i])
	}
	for i := range moved {
		moved[i].LocalSize = localSize(others, moved[i].Host)
	}
	return moved, len(ranks) - len(moved)
}

// FreeSlots returns the free slots of each host, without the slots that ranks occupy.
func FreeSlots(current []Assignment, hosts []Host, ranks []int) []int {
	free := make([]int, len(hosts))
	for h := range hosts {
		free[h] = hosts[h].Slots
	}
	for _, s := range current {
		if !slices.Contains(ranks, s.Rank) {
			free[s.Host]--
		}
	}
	return free
}

// takeLocalRank gives a the lowest local rank of its host that others leave free.
func (a *Assignment) takeLocalRank(others []Assignment) {
	for slices.ContainsFunc(others, func(o Assignment) bool { return o.Host == a.Host && o.LocalRank == a.LocalRank }) {
		a.LocalRank++
	}
}

// localSize returns the number of shares that the cores of a host are divided into: its
// number of ranks, or the local size that the first of them began with, if that is larger.
func localSize(current []Assignment, host int) int {
	n, most := 0, 0
	for _, s := range current {
		if s.Host == host {
			n, most = n+1, max(most, s.LocalSize)
		}
	}
	return max(n, most)
}
