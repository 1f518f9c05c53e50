import { program } from './image.ts'
import { short } from '../short.ts'

await short('image', program)
