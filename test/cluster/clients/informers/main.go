// Informers of client-go that follow one resource while a test does its worst to the servers, and say at the end whether
// what they hold is what a list shows. One JSON line for each; exit 1 when one of them was told what cannot be.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

var (
	namespace = flag.String("namespace", "", "where the objects are")
	selector  = flag.String("selector", "", "label selector of half of the informers")
	last      = flag.String("last", "", "name of the object that is written last")
	deadline  = flag.Duration("deadline", time.Hour, "when to give up")
	resource  = schema.GroupVersionResource{Group: "arc.opendefense.cloud", Version: "v1alpha1", Resource: "artifactworkflows"}
)

func main() {
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), *deadline)
	defer cancel()
	var followers []*follower
	for _, file := range flag.Args() {
		some, err := followersOf(ctx, file)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		followers = append(followers, some...)
	}
	for _, each := range followers {
		if !cache.WaitForCacheSync(ctx.Done(), each.informer.HasSynced) {
			fmt.Fprintln(os.Stderr, each.Name, "did not synchronise")
			os.Exit(2)
		}
	}
	fmt.Println(`"synchronised"`)
	ok := true
	for _, each := range followers {
		ok = each.finish(ctx) && ok
		line, _ := json.Marshal(each)
		fmt.Println(string(line))
	}
	if !ok {
		os.Exit(1)
	}
}

// follower is one informer and what its handler was told.
type follower struct {
	Name     string   `json:"name"`
	Objects  int      `json:"objects"`
	Adds     int      `json:"adds"`
	Updates  int      `json:"updates"`
	Deletes  int      `json:"deletes"`
	Lists    int64    `json:"lists"`
	Watches  int64    `json:"watches"`
	Faults   []string `json:"faults"`
	informer cache.SharedIndexInformer
	list     func(context.Context) (map[string]string, error)
	counted  *counter
	mutex    sync.Mutex
	known    map[string]string
	atEnd    chan struct{}
	ended    sync.Once
}

// counter sees the requests of the client that it wraps.
type counter struct {
	next           http.RoundTripper
	lists, watches atomic.Int64
}

func (c *counter) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Query().Get("watch") == "true" {
		c.watches.Add(1)
	} else {
		c.lists.Add(1)
	}
	return c.next.RoundTrip(request)
}

// versionsOf maps names to resourceVersions.
func versionsOf[T any, P interface {
	*T
	metav1.Object
}](items []T) map[string]string {
	found := map[string]string{}
	for i := range items {
		item := P(&items[i])
		found[item.GetName()] = item.GetResourceVersion()
	}
	return found
}

// followersOf starts a dynamic and a metadata informer, each with and without the selector, each over connections of its own.
func followersOf(ctx context.Context, kubeconfig string) ([]*follower, error) {
	var followers []*follower
	for _, labels := range []string{"", *selector} {
		options := func(options *metav1.ListOptions) { options.LabelSelector = labels }
		for _, kind := range []string{"dynamic", "metadata"} {
			config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
			if err != nil {
				return nil, err
			}
			counted := &counter{}
			config.Wrap(func(next http.RoundTripper) http.RoundTripper {
				counted.next = next
				return counted
			})
			one := &follower{
				Name:    fmt.Sprintf("%s %s %q", filepath.Base(kubeconfig), kind, labels),
				Faults:  []string{},
				counted: counted,
				known:   map[string]string{},
				atEnd:   make(chan struct{}),
			}
			if kind == "dynamic" {
				client, err := dynamic.NewForConfig(config)
				if err != nil {
					return nil, err
				}
				one.informer = dynamicinformer.NewFilteredDynamicInformer(client, resource, *namespace, 0, cache.Indexers{}, options).Informer()
				one.list = func(ctx context.Context) (map[string]string, error) {
					list, err := client.Resource(resource).Namespace(*namespace).List(ctx, metav1.ListOptions{LabelSelector: labels})
					if err != nil {
						return nil, err
					}
					return versionsOf(list.Items), nil
				}
			} else {
				client, err := metadata.NewForConfig(config)
				if err != nil {
					return nil, err
				}
				one.informer = metadatainformer.NewFilteredMetadataInformer(client, resource, *namespace, 0, cache.Indexers{}, options).Informer()
				one.list = func(ctx context.Context) (map[string]string, error) {
					list, err := client.Resource(resource).Namespace(*namespace).List(ctx, metav1.ListOptions{LabelSelector: labels})
					if err != nil {
						return nil, err
					}
					return versionsOf(list.Items), nil
				}
			}
			if _, err := one.informer.AddEventHandler(one); err != nil {
				return nil, err
			}
			go one.informer.RunWithContext(ctx)
			followers = append(followers, one)
		}
	}
	return followers, nil
}

func (f *follower) OnAdd(added interface{}, _ bool) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	object := added.(metav1.Object)
	f.Adds++
	if before, ok := f.known[object.GetName()]; ok {
		f.fault("%s was added at %s, and was there at %s", object.GetName(), object.GetResourceVersion(), before)
	}
	f.keep(object)
}

func (f *follower) OnUpdate(old, updated interface{}) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	before, object := old.(metav1.Object), updated.(metav1.Object)
	f.Updates++
	if known := f.known[object.GetName()]; known != before.GetResourceVersion() {
		f.fault("%s was updated from %s, and was known at %q", object.GetName(), before.GetResourceVersion(), known)
	}
	if older(object.GetResourceVersion(), before.GetResourceVersion()) {
		f.fault("%s went back from %s to %s", object.GetName(), before.GetResourceVersion(), object.GetResourceVersion())
	}
	f.keep(object)
}

func (f *follower) OnDelete(deleted interface{}) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if unknown, ok := deleted.(cache.DeletedFinalStateUnknown); ok {
		deleted = unknown.Obj
	}
	object := deleted.(metav1.Object)
	f.Deletes++
	if _, ok := f.known[object.GetName()]; !ok {
		f.fault("%s was deleted, and was not there", object.GetName())
	}
	delete(f.known, object.GetName())
}

func (f *follower) keep(object metav1.Object) {
	f.known[object.GetName()] = object.GetResourceVersion()
	if object.GetName() == *last {
		f.ended.Do(func() { close(f.atEnd) })
	}
}

// finish waits for the last object, then compares; false when something was wrong.
func (f *follower) finish(ctx context.Context) bool {
	select {
	case <-f.atEnd:
	case <-ctx.Done():
		f.mutex.Lock()
		defer f.mutex.Unlock()
		f.fault("the last object did not come")
		return false
	}
	listed, err := f.list(ctx)
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if err != nil {
		f.fault("list: %v", err)
		return false
	}
	f.Lists, f.Watches = f.counted.lists.Load()-1, f.counted.watches.Load()
	f.Objects = len(listed)
	stored := map[string]string{}
	for _, item := range f.informer.GetStore().List() {
		object := item.(metav1.Object)
		stored[object.GetName()] = object.GetResourceVersion()
	}
	f.compare("the store", stored, listed)
	f.compare("what the handler was told", f.known, listed)
	if f.Adds-f.Deletes != len(listed) {
		f.fault("%d were added and %d deleted, and %d are there", f.Adds, f.Deletes, len(listed))
	}
	return len(f.Faults) == 0
}

func (f *follower) compare(what string, held, listed map[string]string) {
	for name, version := range listed {
		if held[name] != version {
			f.fault("%s has %s at %q, the list at %s", what, name, held[name], version)
		}
	}
	for name, version := range held {
		if _, ok := listed[name]; !ok {
			f.fault("%s has %s at %s, the list has none", what, name, version)
		}
	}
}

func (f *follower) fault(format string, values ...interface{}) {
	if len(f.Faults) < 20 {
		f.Faults = append(f.Faults, fmt.Sprintf(format, values...))
	}
}

// older compares resourceVersions, which are decimal numbers without leading zeros.
func older(a, b string) bool {
	return len(a) < len(b) || len(a) == len(b) && a < b
}
