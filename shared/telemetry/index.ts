/** Logs as JSON lines and metrics as Prometheus text: what a process tells about itself. */
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
