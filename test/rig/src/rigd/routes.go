package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"sort"
	"strings"
)

// kingress is what the ingress reads of a KIngress (networking.internal.knative.dev/v1alpha1).
type kingress struct {
	Metadata struct {
		Name, Namespace   string
		Generation        int64
		Annotations       map[string]string
		DeletionTimestamp string
	}
	Spec struct {
		Rules []struct {
			Hosts []string
			HTTP  struct {
				Paths []kingressPath
			}
		}
	}
	Status struct {
		ObservedGeneration int64
	}
}

type kingressPath struct {
	Path          string
	RewriteHost   string
	Headers       map[string]struct{ Exact string }
	AppendHeaders map[string]string
	Splits        []struct {
		ServiceName, ServiceNamespace string
		ServicePort                   any
		Percent                       int
		AppendHeaders                 map[string]string
	}
}

type split struct {
	percent int
	target  string // host:port
	headers map[string]string
}

type route struct {
	prefix      string
	match       map[string]string
	rewriteHost string
	headers     map[string]string
	splits      []split
}

// table has the routes of each host, the most specific first.
type table map[string][]route

// add adds the routes of a KIngress. Reports whether the address of every Service is known.
func (t table) add(ctx context.Context, k *kube, ki *kingress) bool {
	complete := true
	for _, rule := range ki.Spec.Rules {
		var routes []route
		for _, path := range rule.HTTP.Paths {
			r, err := k.route(ctx, path)
			if err != nil {
				log.Print(err)
				complete = false
			}
			routes = append(routes, r)
		}
		sort.SliceStable(routes, func(i, j int) bool {
			if len(routes[i].match) != len(routes[j].match) {
				return len(routes[i].match) > len(routes[j].match)
			}
			return len(routes[i].prefix) > len(routes[j].prefix)
		})
		for _, host := range rule.Hosts {
			t[host] = append(t[host], routes...)
		}
	}
	return complete
}

// route returns the route of a path, without the splits whose Service has no address; the error names the last of them.
func (k *kube) route(ctx context.Context, path kingressPath) (route, error) {
	r := route{prefix: path.Path, match: map[string]string{}, headers: path.AppendHeaders, rewriteHost: path.RewriteHost}
	for header, match := range path.Headers {
		r.match[header] = match.Exact
	}
	var failure error
	for _, s := range path.Splits {
		address, err := k.address(ctx, s.ServiceNamespace, s.ServiceName, s.ServicePort)
		if err != nil {
			failure = err
			continue
		}
		r.splits = append(r.splits, split{s.Percent, address, s.AppendHeaders})
	}
	return r, failure
}

// address returns host:port of a Service: its external name or its cluster IP, which kube-proxy makes reachable on the host.
func (k *kube) address(ctx context.Context, namespace, name string, port any) (string, error) {
	var service struct {
		Spec struct {
			ClusterIP, Type, ExternalName string
			Ports                         []struct {
				Name string
				Port int
			}
		}
	}
	if err := k.get(ctx, "/api/v1/namespaces/"+namespace+"/services/"+name, &service); err != nil {
		return "", err
	}
	number := fmt.Sprint(port)
	for _, p := range service.Spec.Ports {
		if p.Name == number {
			number = fmt.Sprint(p.Port)
		}
	}
	host := service.Spec.ClusterIP
	if service.Spec.Type == "ExternalName" {
		host = service.Spec.ExternalName
	}
	if host == "" || host == "None" {
		return "", fmt.Errorf("service %s/%s has no cluster IP", namespace, name)
	}
	return net.JoinHostPort(host, number), nil
}

// choose returns the route of a request, and one of its splits at random by their percentages; nil if there is none.
func (t table) choose(r *http.Request) (*route, *split) {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	for i := range t[host] {
		found := &t[host][i]
		if !found.matches(r) {
			continue
		}
		n := rand.IntN(100)
		for j := range found.splits {
			if n -= found.splits[j].percent; n < 0 {
				return found, &found.splits[j]
			}
		}
		if len(found.splits) == 1 { // the percentage of a single split may be left out
			return found, &found.splits[0]
		}
	}
	return nil, nil
}

func (r *route) matches(request *http.Request) bool {
	for header, value := range r.match {
		if request.Header.Get(header) != value {
			return false
		}
	}
	return strings.HasPrefix(request.URL.Path, r.prefix)
}
