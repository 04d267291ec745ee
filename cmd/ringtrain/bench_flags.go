package main

import (
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"ringtrain/bench/speed"
)

// The options of bench, besides those of bench allreduce in options.go.

func benchSumFlags() []cli.Flag {
	return append(benchAllReduceFlags(),
		&cli.DurationFlag{Name: "budget", Usage: "`TIME` for the timed operations of a row, instead of a number of them"},
		&cli.StringFlag{Name: "batch", Value: "16MiB", Usage: "`BYTES` of the buffers that are summed back to back"},
		sizesFlag(), bindFlag("core"), // do not depend on the kernel's initial placement of ranks
		&cli.BoolFlag{Name: "in-place", Usage: "nothing out of place"},
	)
}

func sizesFlag() cli.Flag {
	return &cli.StringFlag{Name: "sizes", Usage: "`SIZES` of the buffers, as in 8,4KiB,8MiB, instead of --min and --max"}
}

func benchCodecFlags() []cli.Flag { return []cli.Flag{jsonFlag()} }

func benchLinkFlags() []cli.Flag {
	return slices.Concat([]cli.Flag{
		npFlag(), jsonFlag(),
		&cli.StringFlag{Name: "min", Value: "8KiB", Usage: "smallest buffer that is copied"},
		&cli.StringFlag{Name: "max", Value: "128MiB", Usage: "largest buffer that is copied"},
		sizesFlag(),
		&cli.StringFlag{Name: "only", Usage: "copy or stream alone"},
		&cli.DurationFlag{Name: "duration", Value: 2 * time.Second, Usage: "`TIME` of the stream between neighbours"},
	}, hostFlags(), placeFlags())
}

func benchPeersFlags() []cli.Flag {
	return []cli.Flag{
		jsonFlag(),
		&cli.IntFlag{Name: "hosts", Usage: "over `N` hosts that are network namespaces, instead of on this host (needs root)"},
		&cli.IntFlag{Name: "per-host", Value: 1, Usage: "`N` ranks on each of --hosts"},
		&cli.StringFlag{Name: "rate", Value: "1gbit", Usage: "`RATE` of each link between --hosts, as tc takes it"},
		&cli.StringFlag{Name: "only", Usage: "`PART` of the tables: one-host (shared memory), flat (TCP on loopback), hosts (4 unless --hosts says); or train: examples a second beside PyTorch, TensorFlow and numpy; or clicks: models of ids on drawn click logs, beside VW, PyTorch and TensorFlow"},
		&cli.StringFlag{Name: "cases", Usage: "`NAMES` of the cases of --only train: " + strings.Join(speed.CaseNames(speed.Images), ", ") + "; of --only clicks: " + strings.Join(speed.CaseNames(speed.Clicks), ", ") + " (default: all)"},
		&cli.StringFlag{Name: "kernels", Usage: "hold all of --only train or clicks to `SET`: avx2"},
		&cli.DurationFlag{Name: "turn", Usage: "`TIME` of each turn of --only train or clicks (default: 3s, with --short 1s)"},
		dataFlag(),
		&cli.BoolFlag{Name: "short", Usage: "fewer sizes and rounds, in three minutes or less"},
		&cli.IntFlag{Name: "rounds", Usage: "`N` interleaved rounds, however long they take (default: 7 or 20 minutes, with --short 3 or 2 minutes)"},
	}
}

func benchInputFlags() []cli.Flag {
	return []cli.Flag{
		jsonFlag(),
		&cli.StringFlag{Name: "cases", Usage: "`NAMES` of formats: " + strings.Join(speed.CaseNames(speed.Input), ", ") + " (default: all)"},
		&cli.IntFlag{Name: "rounds", Value: 5, Usage: "`N` interleaved rounds"},
	}
}
