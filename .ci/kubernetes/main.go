// Suite runs the manifests of deploy on the Kubernetes that the script node has started, and prints a table: what was
// done to a job, what the Job then shows, the time to the next step of training, and the time of the whole case.
//
//	suite -image NAME:TAG -data FOLDER -operators FILE -log FOLDER [-run PATTERN]
//
// Each case has a namespace and volumes of its own. It takes the manifests as they are in deploy, and changes in them
// only image, resources and options of the job, as deploy/README.md says. Each other change is the fault that is tried.
// The logs of a case's pods are in the folder of logs.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"text/tabwriter"
	"time"
)

func main() {
	c := &cluster{}
	flag.StringVar(&c.image, "image", "", "image of ringtrain, as the node has it")
	flag.StringVar(&c.data, "data", "", "folder with mnist")
	flag.StringVar(&c.operators, "operators", "", "file with the definitions of Kubeflow's operators")
	flag.StringVar(&c.logs, "log", "", "folder of logs")
	pattern := flag.String("run", ".", "regular expression that chooses cases by name")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := suite(ctx, c, *pattern); err != nil {
		fmt.Fprintln(os.Stderr, "kubernetes:", err)
		os.Exit(1)
	}
}

// A result is a line of the table.
type result struct {
	shows string        // what the Job shows
	next  time.Duration // from the fault to the next step; 0 if there is none
}

// suite runs the chosen cases one after the other, and prints their table.
func suite(ctx context.Context, c *cluster, pattern string) error {
	chosen, err := regexp.Compile(pattern)
	if err != nil {
		return err
	}
	if err := c.connect(); err != nil {
		return err
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "case\tthe Job shows\tnext step\tcase took")
	failed, ran := 0, 0
	for i, one := range cases {
		if !chosen.MatchString(one.name) {
			continue
		}
		ran++
		began := time.Now()
		r, err := c.try(ctx, fmt.Sprintf("case-%d", i+1), one)
		if err != nil {
			failed++
			r.shows = "FAILED: " + err.Error()
		}
		took := time.Since(began).Round(100 * time.Millisecond)
		next := "-"
		if r.next > 0 {
			next = r.next.Round(100 * time.Millisecond).String()
		}
		fmt.Printf("%s: %s (next step %s, case %v)\n", one.name, r.shows, next, took)
		fmt.Fprintf(table, "%s\t%s\t%s\t%v\n", one.name, r.shows, next, took)
	}
	fmt.Println()
	if err := table.Flush(); err != nil {
		return err
	}
	if failed > 0 || ran == 0 {
		return fmt.Errorf("%d of %d cases failed; logs are in %s", failed, ran, c.logs)
	}
	return nil
}
