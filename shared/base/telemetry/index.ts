/** Observability: logs as JSON lines, metrics as Prometheus text, and the propagated trace context. */
export { createLogger, type Logger, type LoggerOptions } from './logger.ts';
export {
  type Counter,
  createMetrics,
  type Gauge,
  type Histogram,
  type Metrics,
  metricsContentType,
} from './metrics.ts';
export type { HistogramSpec, Labels, MetricSpec } from './series.ts';
export { isSampled, readTraceContext, startTrace, type TraceContext } from './trace-context.ts';
