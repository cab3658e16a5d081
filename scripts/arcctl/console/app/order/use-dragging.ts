import { type RefObject, useEffect, useState } from 'react';

/** Scrolls an element by dragging, except on buttons and links. Returns whether it is being dragged. */
export function useDragging(view: RefObject<HTMLElement | null>): boolean {
  const [isDragged, setDragged] = useState(false);
  useEffect(() => {
    const { current } = view;
    if (!current) return;
    const onDown = (event: PointerEvent) => {
      const isOnButton = event.target instanceof Element && event.target.closest('button') !== null;
      if (event.button !== 0 || event.pointerType === 'touch' || isOnButton) return;
      setDragged(true);
      const from = { x: event.clientX + current.scrollLeft, y: event.clientY + current.scrollTop };
      const onMove = ({ clientX, clientY }: PointerEvent) =>
        current.scrollTo(from.x - clientX, from.y - clientY);
      const onUp = () => {
        setDragged(false);
        removeEventListener('pointermove', onMove);
      };
      addEventListener('pointermove', onMove);
      addEventListener('pointerup', onUp, { once: true });
    };
    current.addEventListener('pointerdown', onDown);
    return () => current.removeEventListener('pointerdown', onDown);
  }, [view]);
  return isDragged;
}
