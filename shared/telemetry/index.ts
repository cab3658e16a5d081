/** Logs as JSON lines, metrics as Prometheus text, and the trace context to carry on: what a process tells about itself. */
export { createLogger, type Logger, type LoggerOptions } from './logger.ts';
export {
  type Counter,
  createMetrics,
  type Gauge,
  type Histogram,
  type HistogramSpec,
  type Labels,
  type MetricSpec,
  type Metrics,
  metricsContentType,
} from './metrics.ts';
export { isSampled, readTraceContext, startTrace, type TraceContext } from './trace-context.ts';
