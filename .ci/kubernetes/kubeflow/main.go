// Kubeflow is the operators of TFJob and TrainJob, and the one of JobSet, which TrainJob needs, in one process: their
// controllers and their webhooks. Left out are elections, metrics, and JobSet's part for places of pods on racks.
//
//	kubeflow FILE
//
// FILE has their resource definitions and webhooks, as their modules have them.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	trainer "github.com/kubeflow/trainer/v2/pkg/apis/trainer/v1alpha1"
	trainers "github.com/kubeflow/trainer/v2/pkg/controller"
	runtimes "github.com/kubeflow/trainer/v2/pkg/runtime/core"
	trainerhooks "github.com/kubeflow/trainer/v2/pkg/webhooks"
	kubeflow "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"
	"github.com/kubeflow/training-operator/pkg/controller.v1/common"
	tfjobs "github.com/kubeflow/training-operator/pkg/controller.v1/tensorflow"
	tfjobhooks "github.com/kubeflow/training-operator/pkg/webhooks/tensorflow"
	admission "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubernetes "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	jobsets "sigs.k8s.io/jobset/pkg/controllers"
	jobsethooks "sigs.k8s.io/jobset/pkg/webhooks"
)

func main() {
	ctrl.SetLogger(klog.Background())
	if err := run(ctrl.SetupSignalHandler(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "kubeflow:", err)
		os.Exit(1)
	}
}

// run installs what the file has in the cluster that KUBECONFIG names, and runs the operators.
func run(ctx context.Context, file string) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	if _, err := envtest.InstallCRDs(config, envtest.CRDInstallOptions{Paths: []string{file}}); err != nil {
		return err
	}
	hooks, err := install(config, file)
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		kubernetes.AddToScheme, kubeflow.AddToScheme, trainer.AddToScheme, jobset.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:        scheme,
		Metrics:       server.Options{BindAddress: "0"},
		Client:        client.Options{Cache: &client.CacheOptions{Unstructured: true}},
		WebhookServer: webhook.NewServer(webhook.Options{Host: hooks.LocalServingHost, Port: hooks.LocalServingPort, CertDir: hooks.LocalServingCertDir}),
	})
	if err != nil {
		return err
	}
	for _, add := range []func(context.Context, ctrl.Manager) error{addTFJob, addJobSet, addTrainJob} {
		if err := add(ctx, manager); err != nil {
			return err
		}
	}
	return manager.Start(ctx)
}

// install installs the file's webhooks with the node's address in place of a Service, and makes a certificate for it.
func install(config *rest.Config, file string) (*envtest.WebhookInstallOptions, error) {
	hooks := &envtest.WebhookInstallOptions{Paths: []string{file}, LocalServingHost: "10.88.0.1", LocalServingPort: 9443}
	if err := hooks.PrepWithoutInstalling(); err != nil {
		return nil, err
	}
	for i := range hooks.MutatingWebhooks { // all three modules have the same name for theirs
		one := hooks.MutatingWebhooks[i]
		one.Name = fmt.Sprintf("operator-%d", i)
		one.Webhooks = slices.DeleteFunc(one.Webhooks, func(w admission.MutatingWebhook) bool { return ofPods(w.Name) })
	}
	for i := range hooks.ValidatingWebhooks {
		one := hooks.ValidatingWebhooks[i]
		one.Name = fmt.Sprintf("operator-%d", i)
		one.Webhooks = slices.DeleteFunc(one.Webhooks, func(w admission.ValidatingWebhook) bool { return ofPods(w.Name) })
	}
	return hooks, hooks.Install(config)
}

// ofPods tells JobSet's webhooks of pods: all pods of the cluster would ask them.
func ofPods(webhook string) bool { return strings.HasSuffix(webhook, "pod.kb.io") }

func addTFJob(_ context.Context, manager ctrl.Manager) error {
	if err := tfjobs.NewReconciler(manager, common.GenNonGangSchedulerSetupFunc()).SetupWithManager(manager, 1); err != nil {
		return err
	}
	return tfjobhooks.SetupWebhook(manager)
}

func addJobSet(ctx context.Context, manager ctrl.Manager) error {
	if err := jobsets.SetupJobSetIndexes(ctx, manager.GetFieldIndexer()); err != nil {
		return err
	}
	sets := jobsets.NewJobSetReconciler(manager.GetClient(), manager.GetScheme(), manager.GetEventRecorderFor("jobset"))
	if err := sets.SetupWithManager(manager); err != nil {
		return err
	}
	hook, err := jobsethooks.NewJobSetWebhook(manager.GetClient())
	if err != nil {
		return err
	}
	return hook.SetupWebhookWithManager(manager)
}

func addTrainJob(ctx context.Context, manager ctrl.Manager) error {
	all, err := runtimes.New(ctx, manager.GetClient(), manager.GetFieldIndexer())
	if err != nil {
		return err
	}
	if kind, err := trainers.SetupControllers(manager, all, controller.Options{}); err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	if kind, err := trainerhooks.Setup(manager, all); err != nil {
		return fmt.Errorf("webhook of %s: %w", kind, err)
	}
	return nil
}
