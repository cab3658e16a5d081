package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

const (
	class      = "rig.ingress.networking.knative.dev"
	classKey   = "networking.knative.dev/ingress.class"
	ingressAPI = "/apis/networking.internal.knative.dev/v1alpha1"
	// The Service that leads to this process: manifests/serving.yaml.
	service = "rig-ingress.knative-serving.svc.cluster.local"
)

// server follows the KIngress objects of the class and proxies requests by their rules.
type server struct {
	kube      *kube
	ingresses map[string]*kingress
	routes    atomic.Pointer[table]
}

func ingress(args []string) {
	flags := flag.NewFlagSet("ingress", flag.ExitOnError)
	address := flags.String("server", "", "URL of kube-apiserver")
	ca := flags.String("ca", "", "file with the CA of kube-apiserver")
	cert := flags.String("cert", "", "file with the client certificate")
	key := flags.String("key", "", "file with the key of the client certificate")
	listen := flags.String("listen", ":8081", "address to serve HTTP on")
	flags.Parse(args)

	k, err := connect(*address, *ca, *cert, *key)
	if err != nil {
		log.Fatal(err)
	}
	s := &server{kube: k}
	s.routes.Store(&table{})
	go func() {
		for {
			if err := s.follow(); err != nil {
				log.Print(err)
				time.Sleep(time.Second)
			}
		}
	}()
	h := &http.Server{Addr: *listen, Handler: s, Protocols: new(http.Protocols)}
	h.Protocols.SetHTTP1(true)
	h.Protocols.SetUnencryptedHTTP2(true)
	log.Printf("listening on %s for class %s", *listen, class)
	log.Fatal(h.ListenAndServe())
}

// follow lists the KIngress objects and watches them for up to a minute. Addresses of Services are read again at each list.
func (s *server) follow() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var list struct {
		Metadata struct{ ResourceVersion string }
		Items    []*kingress
	}
	if err := s.kube.get(ctx, ingressAPI+"/ingresses", &list); err != nil {
		return err
	}
	s.ingresses = map[string]*kingress{}
	for _, ki := range list.Items {
		s.put(ki)
	}
	s.rebuild(ctx)
	watch := "/ingresses?watch=1&timeoutSeconds=55&resourceVersion=" + list.Metadata.ResourceVersion
	events, err := s.kube.request(ctx, http.MethodGet, ingressAPI+watch, nil)
	if err != nil {
		return err
	}
	defer events.Close()
	for decoder := json.NewDecoder(events); ; {
		var event struct {
			Type   string
			Object *kingress
		}
		if err := decoder.Decode(&event); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		switch event.Type {
		case "ERROR":
			return errors.New("the watch of KIngress objects has ended with an error")
		case "DELETED":
			delete(s.ingresses, event.Object.key())
		default:
			s.put(event.Object)
		}
		s.rebuild(ctx)
	}
}

func (ki *kingress) key() string { return ki.Metadata.Namespace + "/" + ki.Metadata.Name }

func (s *server) put(ki *kingress) {
	if ki.Metadata.Annotations[classKey] != class || ki.Metadata.DeletionTimestamp != "" {
		delete(s.ingresses, ki.key())
	} else {
		s.ingresses[ki.key()] = ki
	}
}

// rebuild replaces the routes, and reports each KIngress as ready whose Services all have an address.
func (s *server) rebuild(ctx context.Context) {
	routes := table{}
	var complete []*kingress
	for _, ki := range s.ingresses {
		if routes.add(ctx, s.kube, ki) && ki.Status.ObservedGeneration != ki.Metadata.Generation {
			complete = append(complete, ki)
		}
	}
	s.routes.Store(&routes)
	for _, ki := range complete {
		if err := s.reportReady(ctx, ki); err != nil {
			log.Print(err)
		}
	}
}

func (s *server) reportReady(ctx context.Context, ki *kingress) error {
	now := time.Now().UTC().Format(time.RFC3339)
	var conditions []object
	for _, name := range []string{"LoadBalancerReady", "NetworkConfigured", "Ready"} {
		conditions = append(conditions, object{"type": name, "status": "True", "lastTransitionTime": now})
	}
	balancer := object{"ingress": []object{{"domainInternal": service}}}
	path := ingressAPI + "/namespaces/" + ki.Metadata.Namespace + "/ingresses/" + ki.Metadata.Name + "/status"
	err := s.kube.patch(ctx, path, object{"status": object{
		"observedGeneration": ki.Metadata.Generation, "conditions": conditions,
		"publicLoadBalancer": balancer, "privateLoadBalancer": balancer}})
	if err == nil {
		ki.Status.ObservedGeneration = ki.Metadata.Generation
		log.Printf("ready: %s generation %d", ki.key(), ki.Metadata.Generation)
	}
	return err
}

type choice struct {
	*route
	*split
}
type choiceKey struct{}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	route, split := s.routes.Load().choose(r)
	if split == nil {
		http.Error(w, "no route for host "+r.Host, http.StatusNotFound)
		return
	}
	proxy.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), choiceKey{}, choice{route, split})))
}

var proxy = &httputil.ReverseProxy{
	FlushInterval: -1,
	Transport:     newTransport(),
	Rewrite: func(p *httputil.ProxyRequest) {
		chosen := p.In.Context().Value(choiceKey{}).(choice)
		p.SetURL(&url.URL{Scheme: "http", Host: chosen.target})
		p.SetXForwarded()
		p.Out.Host = p.In.Host
		if chosen.rewriteHost != "" {
			p.Out.Host = chosen.rewriteHost
		}
		for _, headers := range []map[string]string{chosen.route.headers, chosen.split.headers} {
			for name, value := range headers {
				p.Out.Header.Set(name, value)
			}
		}
	},
	ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
		log.Printf("%s %s: %v", r.Host, r.URL.Path, err)
		http.Error(w, err.Error(), http.StatusBadGateway)
	},
}

// transport forwards gRPC over HTTP/2, everything else over HTTP/1.1.
type transport struct{ http1, http2 *http.Transport }

func newTransport() transport {
	t := transport{http1: &http.Transport{MaxIdleConnsPerHost: 64}, http2: &http.Transport{Protocols: new(http.Protocols)}}
	t.http2.Protocols.SetUnencryptedHTTP2(true)
	return t
}

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.ProtoMajor == 2 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
		return t.http2.RoundTrip(r)
	}
	return t.http1.RoundTrip(r)
}
