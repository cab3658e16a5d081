import { Plus } from 'lucide-react';
import { Link } from 'wouter';

/** The button that opens the form for a new Order. */
export function NewOrderLink() {
  return (
    <Link href="/new" className="button primary">
      <Plus size={15} aria-hidden />
      New Order
    </Link>
  );
}
